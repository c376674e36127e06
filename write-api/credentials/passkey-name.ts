import { isName } from '#domain/shared/characters.ts'
import { invalidField } from '#infra/http/faults.ts'
import { refused } from '../refusals.ts'

/** As its owner will tell it from others; throws when it can't be one. */
export function passkeyName(text: string): string {
  const name = text.trim()
  if (name === '') throw refused('PasskeyNameRequired')
  if (!isName(name)) {
    throw invalidField('name', {
      zh: '包含不允许的字符',
      en: 'has characters that are not allowed',
    })
  }
  return name
}
