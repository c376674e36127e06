import { randomInt } from 'node:crypto'
import { isName } from '#domain/shared/characters.ts'
import type { TokenName } from '#domain/token/events.ts'
import { KEY_ALPHABET } from '#domain/token/key-format.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { Vault } from '#infra/vault/port.ts'
import { TOKEN_NAME_MAX } from '#write-api/contract/tokens.ts'
import { validationWords } from '../validation-words.ts'
import { tokenError } from './token-errors.ts'

const SUFFIX_CHARACTERS = 6

/** The name that is asked for, or the one there is. Throws for none, and for a faulty one. */
export function nameOf(asked: string | undefined, before: string): string {
  const name = asked === undefined ? before : asked.trim()
  if (name === '') throw tokenError('TokenNameRequired')
  if (name !== before) checkName('name', name)
  return name
}

export function checkName(field: string, name: string): void {
  if (!isName(name)) throw invalidField(field, validationWords({ fault: 'bad-character' }))
}

/** Empty once the owner was erased. */
export const openedName = async (
  vault: Pick<Vault, 'open'>,
  userId: number,
  name: TokenName,
): Promise<string> =>
  typeof name === 'string' ? ((await vault.open(userId, name)) ?? '') : name.plain

/** Sealed anew only when it is another, or was in plain text. */
export async function sealedName(
  vault: Pick<Vault, 'open' | 'seal'>,
  userId: number,
  asked: string | undefined,
  before: TokenName,
): Promise<TokenName> {
  const known = await openedName(vault, userId, before)
  const name = nameOf(asked, known)
  return name === known && typeof before === 'string' ? before : vault.seal(userId, name)
}

/** The name as given, and for each further token the name with a random suffix, all different. */
export function namesFor(name: string, count: number): readonly string[] {
  const names = new Set([name])
  while (names.size < count) names.add(withSuffix(name))
  return [...names]
}

/** NOTE: counted and cut by whole characters, so that a name stays one that may be sent back. */
function withSuffix(name: string): string {
  const suffix = Array.from(
    { length: SUFFIX_CHARACTERS },
    () => KEY_ALPHABET[randomInt(KEY_ALPHABET.length)],
  ).join('')
  const kept = [...name].slice(0, TOKEN_NAME_MAX - SUFFIX_CHARACTERS - 1).join('')
  return `${kept}-${suffix}`
}
