import { expect, it } from 'vitest'
import { optionTexts } from '#read-api/options/option-labels-and-help-texts.ts'

it('the help about withheld answers says that they are charged', () => {
  const { help } = optionTexts('StopOnSensitiveEnabled')
  expect(help?.en).toContain('withheld and charged')
  expect(help?.en).not.toContain('not charged')
  expect(help?.zh).toContain('照常计费')
  expect(help?.zh).not.toContain('不计费')
})
