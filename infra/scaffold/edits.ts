/** A change of one file of the checkout: the whole text of a new file, or an edit of an old one. */
export type Change =
  | { readonly path: string; readonly create: string }
  | { readonly path: string; readonly edit: (text: string) => string }

/** `rename-token` → `renameToken`. */
export const camelCase = (kebab: string): string =>
  kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** `rename-token` → `RenameToken`. */
export const pascalCase = (kebab: string): string => {
  const camel = camelCase(kebab)
  return camel.charAt(0).toUpperCase() + camel.slice(1)
}

/** `rename-token` → `Rename token`. */
export const sentenceCase = (kebab: string): string => {
  const text = kebab.replaceAll('-', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Adds an import at the top; the formatter puts it in its place. */
export const addImport =
  (line: string) =>
  (text: string): string =>
    `${line}\n${text}`

/**
 * Adds a line at the end of the list or object that begins with `opening` and whose closing bracket
 * stands alone at the same indentation. Throws where there is no such list: the recipe is outdated.
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
