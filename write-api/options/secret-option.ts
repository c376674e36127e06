import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM, type SecretOptionSet } from '#domain/options/events.ts'
import { isText } from '#domain/shared/characters.ts'
import type { ActContext } from '#infra/event-store/actors-port.ts'
import { accepted, type Deps } from '../act.ts'
import { refused } from '../refusals.ts'

/** What a secret option reads as; sent back, it changes nothing. */
const SET = '***'
const LENGTH_MAX = 20_000

/**
 * Keeps the text in the vault and its reference in the event; an empty text clears the option. The
 * text that was there before goes once the event stands. Answers the position of the event.
 */
export async function secretOption(
  { core }: Deps,
  key: string,
  value: string,
  context: ActContext,
): Promise<number> {
  if (value === SET) return core.store.headPosition()
  if (value.length > LENGTH_MAX) {
    throw refused('InvalidOption', { key, fault: 'too-long', maximum: LENGTH_MAX })
  }
  if (!isText(value)) throw refused('InvalidOption', { key, fault: 'bad-character' })
  const secretRef = value === '' ? '' : await core.vault.putSecret('option', `option:${key}`, value)
  const command = { type: 'SetSecretOption', key, secretRef } as const
  const outcome = await core.actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  if (!outcome.isDone && secretRef !== '') await core.vault.deleteSecret(secretRef)
  const { events, position } = accepted(outcome)
  for (const event of events) if (event.type === 'SecretOptionSet') await forget(core, event.data)
  return position
}

/** The event stands either way: a text that can't be deleted now is no fault of the caller. */
async function forget({ vault, log }: Deps['core'], { key, before }: SecretOptionSet['data']) {
  if (before === null || before === '') return
  try {
    await vault.deleteSecret(before)
  } catch (error) {
    log.warn({ err: error, key }, 'the replaced text of a secret option is still in the vault')
  }
}
