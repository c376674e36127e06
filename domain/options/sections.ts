import type { OptionSection } from './schema.ts'
import { APPEARANCE } from './sections/appearance.ts'
import { CHANNEL_HEALTH } from './sections/channel-health.ts'
import { CHANNELS } from './sections/channels.ts'
import { CHATS } from './sections/chats.ts'
import { CLAUDE } from './sections/claude.ts'
import { DRAWING } from './sections/drawing.ts'
import { FALLBACK_PRICING } from './sections/fallback-pricing.ts'
import { GEMINI } from './sections/gemini.ts'
import { GLOBAL } from './sections/global.ts'
import { GROUPS } from './sections/groups.ts'
import { LOGIN } from './sections/login.ts'
import { TELEGRAM, WECHAT } from './sections/messengers.ts'
import { GITHUB, LINUXDO, OIDC } from './sections/oauth.ts'
import { PAGES } from './sections/pages.ts'
import { PAYMENT } from './sections/payment.ts'
import { PRICES } from './sections/prices.ts'
import { QUOTA } from './sections/quota.ts'
import { RATE_LIMIT } from './sections/rate-limit.ts'
import { OTHER_RATIOS } from './sections/ratios.ts'
import { REBATE } from './sections/rebate.ts'
import { SCREENING } from './sections/screening.ts'
import { SITE } from './sections/site.ts'
import { SMTP } from './sections/smtp.ts'
import { STATISTICS } from './sections/statistics.ts'
import { STRIPE } from './sections/stripe.ts'
import { TURNSTILE } from './sections/turnstile.ts'
import { UPDATE } from './sections/update.ts'

/** Every section of the settings page, tab by tab, in the order in which it shows them. */
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
