import { assert } from '#domain/shared/assert.ts'
import { isName, isText } from '#domain/shared/check-characters.ts'
import { isSame } from '#domain/shared/deep-equal.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Vault } from '#infra/vault/port.ts'
import {
  sentValues,
  type ValuesOf,
  type WritableFields,
} from '#read-api/contract/resource-field-definition.ts'
import { validationMessage } from './error-messages-for-invalid-values.ts'

/**
 * Returns the stored values (`before`) with the changes of a request (`body`) applied. Changed
 * personal texts are encrypted with the key of the user `owner`, which is required if `fields`
 * contain such texts. Throws an HTTP error if a text contains control characters, or if a name
 * contains invisible characters.
 */
export async function applyFields<F extends WritableFields, Values extends Partial<ValuesOf<F>>>(
  fields: F,
  before: Values,
  body: object,
  owner?: { readonly vault: Pick<Vault, 'open' | 'seal'>; readonly userId: number },
): Promise<Values> {
  const stored = new Map<string, unknown>(Object.entries(before))
  const changed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(sentValues(fields, body))) {
    const field = fields[name]
    const current = stored.get(name) ?? field?.initial
    const isValid = field?.type === 'name' ? isName : isText
    if (field !== undefined && typeof value === 'string' && !isValid(value)) {
      throw invalidField(field.wire, validationMessage({ error: 'bad-character' }))
    }
    if (field?.type === 'encryptedText') {
      assert(owner !== undefined, 'a personal text has an owner')
      const { vault, userId } = owner
      const text = current === null ? '' : await vault.open(userId, current as Sealed)
      if (value !== text)
        changed[name] = value === '' ? null : await vault.seal(userId, String(value))
    } else if (!isSame(value, current)) changed[name] = value
  }
  return { ...before, ...changed }
}
