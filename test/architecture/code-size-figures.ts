import { duplicatedLines } from './duplicated-lines.ts'
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
const tests = files.filter(({ path }) => path.startsWith('test/'))
const small = product.filter((file) => linesOf([file]) < 30)

const duplication = (of: readonly SourceFile[]): string => {
  const { duplicated, total } = duplicatedLines(of)
  return `${((duplicated / total) * 100).toFixed(2)} % (${duplicated} of ${total} lines)`
}

console.table(byPart)
console.info(`source files without tests: ${product.length}, lines: ${linesOf(product)}`)
console.info(`of these under 30 lines: ${small.length}`)
console.info(`import cycles, imports of types included: ${importCycles(files).length}`)
console.info(`code lines in repeated blocks of at least 6 lines: ${duplication(product)}`)
console.info(`the same in tests: ${duplication(tests)}`)
