import { optionTranslations } from '#read-api/contract/option-translations/en.ts'
import type { PageTranslations } from '../translation-types.ts'
import { dashboard } from './dashboard.ts'
import { orders } from './orders.ts'
import { playground } from './playground.ts'
import { priceSettings } from './price-settings.ts'
import { pricingPage } from './pricing-page.ts'
import { redemptions } from './redemptions.ts'
import { messages } from './sent-messages.ts'
import { settings } from './settings-page-frame.ts'
import { taskLogs } from './task-logs.ts'
import { tokens } from './tokens.ts'
import { users } from './users.ts'
import { wallet } from './wallet.ts'

const logExport: PageTranslations['logExport'] = {
  title: 'Columns to export',
  lead: 'The CSV file contains the selected columns. This browser remembers the selection.',
  selectedCount: '{{selected}} of {{all}} selected',
  none: 'Choose at least one column',
  selectAll: 'All',
  selectNone: 'None',
  column: {
    id: 'Log ID',
    unix_time: 'Unix time',
    provider_cost_usd: 'Provider cost',
    error: 'Error code',
  },
}

/**
 * The texts that `loadTranslations('pages')` loads together with the pages that use these texts.
 */
export const pageTranslations: PageTranslations = {
  redemptions,
  dashboard,
  logExport,
  messages,
  options: optionTranslations,
  orders,
  playground,
  pricing: { ...pricingPage, ...priceSettings },
  settings,
  taskLogs,
  tokens,
  users,
  wallet,
}
