/**
 * Where the command line asks for help: prints it and ends the process, before anything is begun.
 * @param {string} help
 */
export function answerHelp(help, args = process.argv.slice(2)) {
  if (!args.includes('--help') && !args.includes('-h')) return;
  console.log(help);
  process.exit(0);
}
