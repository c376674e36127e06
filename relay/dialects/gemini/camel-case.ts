/** The maximum length of a name that is converted. Google's API has no names as long as this. */
const NAME_LENGTH_MAX = 256

/**
 * Returns a name in camelCase. Google's API accepts each name in camelCase and in snake_case. A
 * very long name is returned unchanged.
 */
export const camelCased = (name: string): string =>
  name.length <= NAME_LENGTH_MAX && name.includes('_')
    ? name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    : name

export const snakeCased = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const bothSpellings = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [name, snakeCased(name)])
