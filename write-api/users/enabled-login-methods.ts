import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { LoginMethod } from '#domain/user/commands.ts'

const FLAGS: readonly (readonly [LoginMethod, string])[] = [
  ['github', 'GitHubOAuthEnabled'],
  ['oidc', 'oidc.enabled'],
  ['linuxdo', 'LinuxDOOAuthEnabled'],
  ['wechat', 'WeChatAuthEnabled'],
  ['telegram', 'TelegramOAuthEnabled'],
]

/** As the options have it now; an address of mail is one where it can bring a new password. */
export function enabledLoginMethods(
  values: ReadonlyMap<string, string>,
  role: number,
): LoginMethod[] {
  const ways = FLAGS.flatMap(([way, flag]) => (optionFlag(values, flag) ? [way] : []))
  if (!optionFlag(values, 'PasswordLoginEnabled') && role < SUPER_ADMIN) return ways
  const canMail = optionValue(values, 'SMTPServer') !== ''
  return [...ways, 'password', ...(canMail ? (['email'] as const) : [])]
}
