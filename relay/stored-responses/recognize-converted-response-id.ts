/** Matches the ids of converted responses and of their items. Both contain the id of the call. */
const OWN_ID = /^(?:resp_([0-9a-f]{32})|(?:msg|rs|fc|ctc)_([0-9a-f]{32})_\d{1,6})$/

/**
 * Returns the id of the converted response to which the id of a response or an item belongs.
 * Returns null for an id that only a provider can have created.
 */
export function convertedResponseIdIn(id: string): string | null {
  const [, ofResponse, ofItem] = OWN_ID.exec(id) ?? []
  const call = ofResponse ?? ofItem
  return call === undefined ? null : `resp_${call}`
}
