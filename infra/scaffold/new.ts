/**
 * `npm run new -- KIND NAME` creates the files of a new page, action, question, provider or option,
 * as CONTRIBUTING.md describes. If one change is impossible, nothing is written.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Change } from './file-edits.ts'
import { RECIPES } from './recipes.ts'

/** The root of the checkout, in which the program must be started. */
const ROOT = process.cwd()

const fail = (message: string): never => {
  const usages = Object.values(RECIPES).map(({ usage }) => `  npm run new -- ${usage}`)
  process.stderr.write(`${message}\n${usages.join('\n')}\n`)
  process.exit(2)
}

function changedText(change: Change): string {
  const file = join(ROOT, change.path)
  if ('create' in change) {
    if (existsSync(file)) fail(`${change.path} already exists`)
    return change.create
  }
  if (!existsSync(file)) fail(`${change.path} does not exist`)
  return change.edit(readFileSync(file, 'utf8'))
}

const [kind = '', name = ''] = process.argv.slice(2)
const recipe = RECIPES[kind === 'act' ? 'action' : kind] ?? fail(`"${kind}" is not a kind`)
const groups = recipe.pattern.exec(name)?.slice(1) ?? fail(`"${name}" is not a name of this kind`)
const { changes, next } = recipe.make(...groups)
const texts = changes.map((change) => [change.path, changedText(change)] as const)
for (const [path, text] of texts) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true })
  writeFileSync(join(ROOT, path), text)
}
const paths = texts.map(([path]) => path)
const biome = join(import.meta.dirname, '../../node_modules/.bin/biome')
spawnSync(biome, ['check', '--write', '--log-level=error', ...paths], { cwd: ROOT })
process.stdout.write(`${['Written:', ...paths, 'Next:', ...next].join('\n  ')}\n`)
