import { randomInt } from 'node:crypto'
import { isName } from '#domain/shared/check-characters.ts'
import type { TokenName } from '#domain/tokens/events.ts'
import { KEY_ALPHABET } from '#domain/tokens/key-format.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Vault } from '#infra/vault/port.ts'
import { TOKEN_FIELDS } from '#read-api/contract/token-fields.ts'
import { validationMessage } from '../error-messages-for-invalid-values.ts'
import { tokenError } from './token-errors.ts'

const SUFFIX_CHARACTERS = 6

/**
 * Returns the requested name, or the current name if none is requested. Throws if the name is empty
 * or invalid.
 */
export function nameOf(requested: string | undefined, before: string): string {
  const name = requested === undefined ? before : requested.trim()
  if (name === '') throw tokenError('TokenNameRequired')
  if (name !== before) checkName('name', name)
  return name
}

export function checkName(field: string, name: string): void {
  if (!isName(name)) throw invalidField(field, validationMessage({ error: 'bad-character' }))
}

/** Returns the decrypted name of a token, or an empty text if the owner was erased. */
export const decryptName = async (
  vault: Pick<Vault, 'open'>,
  userId: number,
  name: TokenName,
): Promise<string> =>
  typeof name === 'string' ? ((await vault.open(userId, name)) ?? '') : name.plain

/**
 * Returns the encrypted name of a token. If the name does not change and is already encrypted, the
 * stored ciphertext is returned.
 */
export async function sealName(
  vault: Pick<Vault, 'open' | 'seal'>,
  userId: number,
  requested: string | undefined,
  before: TokenName,
): Promise<TokenName> {
  const current = await decryptName(vault, userId, before)
  const name = nameOf(requested, current)
  return name === current && typeof before === 'string' ? before : vault.seal(userId, name)
}

/**
 * Returns the names for a batch of tokens. The first name is `name`, and all other names have a
 * random suffix.
 */
export function namesFor(name: string, count: number): readonly string[] {
  const names = new Set([name])
  while (names.size < count) names.add(withSuffix(name))
  return [...names]
}

/**
 * Returns the name with a random suffix. NOTE: the name is shortened by whole Unicode code points,
 * so that it stays valid.
 */
function withSuffix(name: string): string {
  const suffix = Array.from(
    { length: SUFFIX_CHARACTERS },
    () => KEY_ALPHABET[randomInt(KEY_ALPHABET.length)],
  ).join('')
  const { maxLength } = TOKEN_FIELDS.name
  const stem = [...name].slice(0, maxLength - SUFFIX_CHARACTERS - 1).join('')
  return `${stem}-${suffix}`
}
