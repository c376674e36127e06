/**
 * Returns the longest name in `names` that `model` is a version of, or undefined. For example,
 * `sora-2-2025-12-08` is a version of `sora-2`. Every name is a version of itself.
 */
export function nameOfVersion(model: string, names: Iterable<string>): string | undefined {
  let longest: string | undefined
  for (const name of names) {
    if (name === model) return name
    const isPrefix = model.startsWith(name) && /^[-_.]/.test(model.slice(name.length))
    if (isPrefix && name.length > (longest?.length ?? 0)) longest = name
  }
  return longest
}
