import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import type { ActContext } from '#infra/event-store/actors-port.ts'
import { accepted, type Parts } from '../act.ts'

/** What a secret option reads as; sent back, it changes nothing. */
const SET = '***'

/** Keeps the text in the vault and its reference in the event; an empty text clears the option. */
export async function secretOption(
  { core }: Parts,
  key: string,
  value: string,
  context: ActContext,
): Promise<{ position: number }> {
  if (value === SET) return { position: await core.store.headPosition() }
  const secretRef = value === '' ? '' : await core.vault.putSecret('option', `option:${key}`, value)
  const command = { type: 'SetSecretOption', key, secretRef } as const
  const outcome = await core.actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  if (!outcome.isDone && secretRef !== '') await core.vault.deleteSecret(secretRef)
  return accepted(outcome)
}
