import type { OptionSection } from './option-definition.ts'
import { CHANNEL_HEALTH, CHANNELS } from './sections/channels.ts'
import { CHATS, DRAWING } from './sections/chats.ts'
import { GITHUB, LINUXDO, LOGIN, OIDC, TELEGRAM, TURNSTILE, WECHAT } from './sections/login.ts'
import { CLAUDE, GEMINI, GLOBAL } from './sections/models.ts'
import { PAYMENT, STRIPE } from './sections/payment.ts'
import { FALLBACK_PRICING, GROUPS, OTHER_RATIOS, PRICES } from './sections/prices.ts'
import { QUOTA, REBATE } from './sections/quota.ts'
import { RATE_LIMIT, SCREENING } from './sections/rate-limit.ts'
import { APPEARANCE, PAGES, SITE, STATISTICS, UPDATE } from './sections/site.ts'
import { SMTP } from './sections/smtp.ts'

/** All sections in the order in which the settings page shows them. */
export const SECTIONS: readonly OptionSection[] = [
  QUOTA,
  REBATE,
  CHATS,
  GROUPS,
  OTHER_RATIOS,
  FALLBACK_PRICING,
  PRICES,
  RATE_LIMIT,
  GLOBAL,
  CHANNELS,
  CHANNEL_HEALTH,
  SCREENING,
  GEMINI,
  CLAUDE,
  SITE,
  LOGIN,
  SMTP,
  GITHUB,
  OIDC,
  LINUXDO,
  TELEGRAM,
  WECHAT,
  TURNSTILE,
  PAYMENT,
  STRIPE,
  APPEARANCE,
  PAGES,
  STATISTICS,
  DRAWING,
  UPDATE,
]
