import { foldedName } from '#domain/shared/fold-json-member-names.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { ambiguousKey } from '../dialects/invalid-json-error.ts'

/**
 * Returns an error if an object has a member that is not in `known`, and otherwise null. Unknown
 * members are refused, because they could change the cost of a response.
 */
export function checkMembers(
  value: JsonObject,
  known: readonly string[],
  path: string,
): RelayError | null {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const other = known.find((name) => foldedName(name) === foldedName(key))
    const param = `${path}${key.slice(0, 64)}`
    return other === undefined
      ? relayError('parameter_not_supported', { param })
      : ambiguousKey(param, other)
  }
  return null
}

/**
 * Returns an error if an object has a member with another spelling of one of `names`, and otherwise
 * null. A provider that ignores case could read such a member, which the gateway would not see.
 */
export function checkSpelling(
  value: JsonObject,
  names: readonly string[],
  path: string,
): RelayError | null {
  for (const key of Object.keys(value)) {
    const other = names.find((name) => name !== key && foldedName(name) === foldedName(key))
    if (other !== undefined) return ambiguousKey(`${path}${key.slice(0, 64)}`, other)
  }
  return null
}
