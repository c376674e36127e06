import { decimal, FLAG } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const REBATE: OptionSection = {
  id: 'rebate',
  tab: 'operation',
  title: { zh: '返佣设置', en: 'Invitations and rebates' },
  lead: {
    zh: '被邀请的用户充值后，按比例返还给邀请人。',
    en: 'When an invited user tops up, a share goes to whoever invited them.',
  },
  options: [
    {
      key: 'AffEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用邀请', en: 'Invitations' },
    },
    {
      key: 'RebateEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用返佣', en: 'Rebates' },
    },
    {
      key: 'RebatePercentage',
      type: decimal('0', '100'),
      preset: '0',
      unit: 'percent',
      label: { zh: '返佣百分比', en: 'Rebate share' },
      boundsWords: {
        zh: '返佣百分比必须在0到100之间',
        en: 'The rebate share must be between 0 and 100',
      },
    },
  ],
}
