import { importsOf, type SourceFile } from './source-tree.ts'

/** Returns the import cycles as `a → b → a`. Type imports count. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .map(({ target }) => target)
        .filter((target) => !target.startsWith('npm:')),
    ]),
  )
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) {
      found.push([...trail.slice(at), path].join(' → '))
      return
    }
    if (done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return found
}
