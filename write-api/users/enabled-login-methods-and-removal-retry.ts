import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { SUPER_ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { LoginMethod } from '#domain/users/commands.ts'
import type { Outcome } from '#infra/event-store/stream-actors-port.ts'

const FLAGS: readonly (readonly [LoginMethod, string])[] = [
  ['github', 'GitHubOAuthEnabled'],
  ['oidc', 'oidc.enabled'],
  ['linuxdo', 'LinuxDOOAuthEnabled'],
  ['wechat', 'WeChatAuthEnabled'],
  ['telegram', 'TelegramOAuthEnabled'],
]

/**
 * Returns the login methods that the site enables for users with the role. `email` is included if a
 * password can be reset by mail.
 */
export function enabledLoginMethods(
  values: ReadonlyMap<string, string>,
  role: number,
): LoginMethod[] {
  const methods = FLAGS.flatMap(([method, flag]) => (optionFlag(values, flag) ? [method] : []))
  if (!optionFlag(values, 'PasswordLoginEnabled') && role < SUPER_ADMIN) return methods
  const canMail = optionValue(values, 'SMTPServer') !== ''
  return [...methods, 'password', ...(canMail ? (['email'] as const) : [])]
}

/**
 * The maximum number of attempts to remove a login method. An attempt fails if another process
 * changes the user's login methods at the same time.
 */
const ATTEMPTS_MAX = 20

/**
 * Calls `decide`, which removes a login method. Calls `decide` again, up to 20 times in total, if
 * another process has changed the user's login methods at the same time. NOTE: `decide` must read
 * the number of removed login methods before it reads the passkeys. In the reverse order, a change
 * between the two reads would not be noticed.
 */
export async function retryWhileLoginMethodsChange(
  decide: () => Promise<Outcome<Fact, CodedError>>,
): Promise<Outcome<Fact, CodedError>> {
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await decide()
    if (outcome.isDone || attempts >= ATTEMPTS_MAX) return outcome
    const { code } = outcome.error
    if (code !== 'WaysInChanged' && code !== 'PasskeysChanged') return outcome
  }
}
