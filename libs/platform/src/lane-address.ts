const PORT_MAX = 65_535;

/** The host and the port of LANE_ADDRESS. */
export function laneAddressOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}

/** What is wrong with LANE_ADDRESS beside the other settings; null: nothing. */
export function faultOfLaneAddress(settings: {
  LANE_ADDRESS?: string;
  LANE_OWNER: string;
  API_PROCESSES: number;
}): string | null {
  const { LANE_ADDRESS = '', LANE_OWNER, API_PROCESSES } = settings;
  if (LANE_OWNER === 'false') return 'LANE_ADDRESS means nothing with LANE_OWNER=false: leave it out';
  const last = laneAddressOf(LANE_ADDRESS).port + API_PROCESSES - 1;
  return last > PORT_MAX ? `LANE_ADDRESS needs the ports to ${last}, and there is none above ${PORT_MAX}` : null;
}
