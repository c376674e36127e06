const VERSION = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(-[\w.-]+)?(?:\+.*)?$/i

/** Whether `latest` is a later version than `current`; a tag that names no version is none. */
export function isNewer(latest: string, current: string): boolean {
  const [theirs, ours] = [VERSION.exec(latest.trim()), VERSION.exec(current.trim())]
  if (theirs === null || ours === null) return false
  for (const part of [1, 2, 3]) {
    const difference = Number(theirs[part] ?? 0) - Number(ours[part] ?? 0)
    if (difference !== 0) return difference > 0
  }
  // A release follows its own candidates.
  return theirs[4] === undefined && ours[4] !== undefined
}
