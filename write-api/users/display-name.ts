import { isName } from '#domain/shared/characters.ts'
import { invalidField } from '#infra/http/faults.ts'
import { faultWords } from '../fault-words.ts'
import { ACCOUNT_LIMITS } from './account-limits.ts'

const MAX = ACCOUNT_LIMITS.displayNameCharacters

/** The display name as it is kept, empty for none; throws when it can't be one. */
export function displayNameOf(text: string): string {
  const name = text.trim()
  if ([...name].length > MAX) {
    throw invalidField('display_name', {
      zh: `长度不能超过 ${MAX} 个字符`,
      en: `must have at most ${MAX} characters`,
    })
  }
  if (!isName(name)) throw invalidField('display_name', faultWords({ fault: 'bad-character' }))
  return name
}

/** Of what a provider calls somebody, as much as can be a display name here. */
export const displayNameFrom = (theirs: string): string =>
  [...theirs]
    .filter((character) => isName(character))
    .slice(0, MAX)
    .join('')
    .trim()
