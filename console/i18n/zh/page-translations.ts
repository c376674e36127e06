import { optionTranslations } from '#read-api/contract/option-translations/zh.ts'
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

const logExport = {
  title: '导出的列',
  lead: 'CSV 文件只包含勾选的列，选择会保存在本浏览器中。',
  selectedCount: '已选 {{selected}} / {{all}} 列',
  none: '请至少选择一列',
  selectAll: '全选',
  selectNone: '全不选',
  column: {
    id: '日志 ID',
    unix_time: 'Unix 时间',
    provider_cost_usd: '上游成本',
    error: '错误码',
  },
} as const

/**
 * The texts that `loadTranslations('pages')` loads together with the pages that use these texts.
 */
export const pageTranslations = {
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
