/** The host and the port of LANE_ADDRESS. */
export function laneAddressOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}
