/** A change of one file: the text of a new file, or an edit of an existing file. */
export type Change =
  | { readonly path: string; readonly create: string }
  | { readonly path: string; readonly edit: (text: string) => string }

/** Converts a name such as `rename-token` to `renameToken`. */
export const camelCase = (kebab: string): string =>
  kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** Converts a name such as `rename-token` to `RenameToken`. */
export const pascalCase = (kebab: string): string => {
  const camel = camelCase(kebab)
  return camel.charAt(0).toUpperCase() + camel.slice(1)
}

/** Converts a name such as `rename-token` to `Rename token`. */
export const sentenceCase = (kebab: string): string => {
  const text = kebab.replaceAll('-', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * Returns the path of an API route, such as `/api/token/count` for the folder `tokens` and the name
 * `count`.
 */
export const apiPath = (folder: string, name: string): string => {
  const singular = folder.replace(/(?<!u)s$/, '')
  return `/api/${singular}/${name}`.replaceAll('-', '_')
}

/**
 * Returns an edit that adds an import at the beginning of a file. The formatter later sorts the
 * imports.
 */
export const addImport =
  (line: string) =>
  (text: string): string =>
    `${line}\n${text}`

/**
 * Returns an edit that adds `line` to the list or object that begins with `opening`. The closing
 * bracket must be on a separate line with the same indentation. Throws if there is no such list or
 * object.
 */
export const addToBlock =
  (opening: RegExp, line: string) =>
  (text: string): string => {
    const start = opening.exec(text)
    if (start === null) throw new Error(`no text matches ${opening}: the recipe is outdated`)
    const lineStart = text.lastIndexOf('\n', start.index) + 1
    const indent = /^ */.exec(text.slice(lineStart))?.[0] ?? ''
    const closing = new RegExp(`^${indent}[\\]}]`, 'm')
    const from = start.index + start[0].length
    const end = closing.exec(text.slice(from))
    if (end === null) throw new Error(`nothing closes ${opening}: the recipe is outdated`)
    const at = from + end.index
    return `${text.slice(0, at)}${indent}  ${line}\n${text.slice(at)}`
  }

export const inOrder =
  (...edits: readonly ((text: string) => string)[]) =>
  (text: string): string =>
    edits.reduce((changed, edit) => edit(changed), text)
