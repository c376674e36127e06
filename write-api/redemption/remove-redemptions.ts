import type { ActContext } from '#infra/event-store/actors-port.ts'
import type { RedemptionKey } from '#projections/redemptions/query.ts'
import type { Deps } from '../act.ts'
import { type Changed, decideRedemptions } from './decide-redemptions.ts'

type Terms = { readonly isOneOfMany?: boolean; readonly onlyDisabled?: boolean }

/** Deletes codes, and their keys from the vault once that stands. */
export async function removeRedemptions(
  deps: Deps,
  keys: readonly RedemptionKey[],
  terms: Terms,
  context: ActContext,
): Promise<Changed> {
  const commandFor = (redemptionId: number) =>
    ({ type: 'DeleteRedemption', redemptionId, ...terms }) as const
  const changed = await decideRedemptions(deps, keys, commandFor, context)
  const gone = keys.filter(({ id }) => changed.ids.has(id))
  await Promise.all(gone.map(({ keyRef }) => deps.core.vault.deleteSecret(keyRef)))
  return changed
}
