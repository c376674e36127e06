import { importCycles } from './import-cycles.ts'
import { PARTS, type SourceFile, sourceFiles } from './source-tree.ts'

const linesOf = (files: readonly SourceFile[]): number =>
  files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)

const files = sourceFiles()
const byPart = PARTS.map((part) => {
  const own = files.filter(({ path }) => path.startsWith(`${part}/`))
  return { part, files: own.length, lines: linesOf(own) }
})
const product = files.filter(({ path }) => !path.startsWith('test/'))
const small = product.filter((file) => linesOf([file]) < 30)

console.table(byPart)
console.info(`source files without tests: ${product.length}, lines: ${linesOf(product)}`)
console.info(`of these under 30 lines: ${small.length}`)
console.info(`import cycles, imports of types included: ${importCycles(files).length}`)
