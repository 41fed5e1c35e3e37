/** Of every answer: a browser is to believe its Content-Type, whatever text a player put into it. */
export const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };
