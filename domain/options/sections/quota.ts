import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, QUOTA_UNITS } from '../option-type.ts'

export const QUOTA: OptionSection = {
  id: 'quota',
  tab: 'operation',
  options: [
    { key: 'QuotaForNewUser', type: QUOTA_UNITS, preset: '0', unit: 'quota' },
    { key: 'PreConsumedQuota', type: QUOTA_UNITS, preset: '500', unit: 'quota' },
    { key: 'QuotaForInviter', type: QUOTA_UNITS, preset: '0', unit: 'quota' },
    { key: 'QuotaForInvitee', type: QUOTA_UNITS, preset: '0', unit: 'quota' },
    { key: 'QuotaRemindThreshold', type: QUOTA_UNITS, preset: '500000', unit: 'quota' },
    { key: 'QuotaPerUnit', type: decimal('1', '1000000000'), preset: '500000', access: 'root' },
    { key: 'DisplayInCurrencyEnabled', type: FLAG, preset: 'true' },
    { key: 'StreamCacheQueueLength', type: integer(0, 10_000), preset: '0', hasNoEffect: true },
    { key: 'CheckInEnabled', type: FLAG, preset: 'false' },
    { key: 'CheckInQuota', type: QUOTA_UNITS, preset: '0', unit: 'quota' },
    {
      key: 'CheckInMaxQuota',
      type: QUOTA_UNITS,
      preset: '0',
      unit: 'quota',
      notBelow: 'CheckInQuota',
    },
  ],
}

export const REBATE: OptionSection = {
  id: 'rebate',
  tab: 'operation',
  options: [
    { key: 'AffEnabled', type: FLAG, preset: 'false' },
    { key: 'RebateEnabled', type: FLAG, preset: 'false' },
    { key: 'RebatePercentage', type: decimal('0', '100'), preset: '0', unit: 'percent' },
  ],
}
