/**
 * What slots each master of a cluster serves, by its address: `0-5460`, or several such runs.
 * @param slots the nodes of each slot, its master first
 */
export function slotsByOwner(slots: readonly (readonly string[] | undefined)[]): Map<string, string> {
  const owned = new Map<string, string>();
  for (let first = 0, slot = 0; slot < slots.length; slot += 1) {
    const owner = slots[slot]?.[0];
    if (slots[slot + 1]?.[0] === owner && slot + 1 < slots.length) continue;
    const run = first === slot ? String(slot) : `${first}-${slot}`;
    if (owner !== undefined) owned.set(owner, [owned.get(owner), run].filter(Boolean).join(' '));
    first = slot + 1;
  }
  return owned;
}
