import { expect, it } from 'vitest'
import { sourceFiles } from './source-tree.ts'

/** Tests that find elements of the console, and the fixtures of these tests. */
const BROWSER_TESTS = /^test\/(?:console|e2e|support)\//

/** Files that need Chinese text which is no text of the catalogue, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'test/console/commands.test.ts': 'types the name of the language, which is the same in all',
  'test/console/support/site-with-data-on-every-page.ts': 'serves a message in two languages',
  'test/console/task-logs/fake-tasks.ts': 'serves prompts and lyrics in Chinese',
  'test/console/time-text.test.ts': 'checks the words that Intl writes for times',
}

const withChinese = sourceFiles()
  .filter(({ path, text }) => BROWSER_TESTS.test(path) && /\p{Script=Han}/u.test(text))
  .map(({ path }) => path)

it('tests name texts of the console by i18n key, never by a Chinese literal', () => {
  expect(withChinese.filter((path) => ALLOWED[path] === undefined)).toEqual([])
})

it('every file that may hold Chinese text holds some', () => {
  expect(Object.keys(ALLOWED).filter((path) => !withChinese.includes(path))).toEqual([])
})
