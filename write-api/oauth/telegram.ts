import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { optionFlag } from '#domain/options/registry.ts'
import { isFull } from '#infra/limits/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { TelegramQuery } from '#write-api/contract/oauth.ts'
import type { Deps } from '../act.ts'
import { readSecretOption } from '../options/read-secret-option.ts'
import { refused } from '../refusals.ts'
import type { Profile } from './provider.ts'

const AGE_SECONDS_MAX = 300
/** Their clock may be ahead of ours. */
const AHEAD_SECONDS_MAX = 60

/**
 * Whom Telegram's widget names, by its signature under the bot's token (core.telegram.org/widgets/
 * login), at most five minutes old and good for one use.
 */
export async function telegramProfile({ core }: Deps, query: TelegramQuery): Promise<Profile> {
  const { values, secretRefs } = await allOptions(core.db)
  if (!optionFlag(values, 'TelegramOAuthEnabled')) {
    throw refused('WayInClosed', { provider: 'telegram' })
  }
  const token = await readSecretOption(core, secretRefs, 'TelegramBotToken')
  if (token === '') throw refused('OAuthNotSetUp', { provider: 'telegram' })
  const age = Math.floor(core.now() / 1_000) - Number(query.auth_date)
  const isFresh = age <= AGE_SECONDS_MAX && age >= -AHEAD_SECONDS_MAX
  if (!isFresh || !isSigned(query, token)) throw refused('TelegramInvalid')
  if (!(await isFirstUse(core, query.hash))) throw refused('TelegramInvalid')
  const { first_name = '', last_name = '', username = '' } = query
  return {
    identity: { provider: 'telegram', id: query.id },
    username: username || first_name,
    displayName: `${first_name} ${last_name}`.trim(),
  }
}

const SIGNED = ['auth_date', 'first_name', 'id', 'last_name', 'photo_url', 'username'] as const

/** Whether `lang` is of what is signed depends on the widget that was shown. */
function isSigned(query: TelegramQuery, token: string): boolean {
  const key = createHash('sha256').update(token).digest()
  return [SIGNED, [...SIGNED, 'lang'] as const].some((names) => {
    const lines = [...names]
      .sort()
      .flatMap((name) => (query[name] === undefined ? [] : [`${name}=${query[name]}`]))
    const wanted = createHmac('sha256', key).update(lines.join('\n')).digest()
    return timingSafeEqual(wanted, Buffer.from(query.hash, 'hex'))
  })
}

/** Counted over all processes: longer than what it signs is good for. */
async function isFirstUse({ limits, vault }: Deps['core'], hash: string): Promise<boolean> {
  const periodMs = (AGE_SECONDS_MAX + AHEAD_SECONDS_MAX) * 2_000
  const key = `telegram:${vault.keyedHash('identity', hash)}`
  const outcome = await limits.enter('login', [
    { kind: 'rate', key, max: 1, periodMs, isRefundable: false },
  ])
  if (isFull(outcome)) return false
  outcome.release({ isRefunded: false })
  return true
}
