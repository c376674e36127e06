import { WITH_MONEY } from '../notes.ts'
import { decimal, integer, SECRET, text, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const PAYMENT: OptionSection = {
  id: 'payment',
  tab: 'system',
  title: { zh: '支付设置', en: 'Payment' },
  lead: { zh: '在线充值的网关与价格。', en: 'The gateway for top-ups, and what a dollar costs.' },
  options: [
    {
      key: 'PayAddress',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '支付网关地址', en: 'Payment gateway' },
      help: { zh: '留空则不启用在线充值。', en: 'Empty: no top-ups online.' },
      note: WITH_MONEY,
    },
    {
      key: 'EpayId',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: '易支付商户 ID', en: 'Payment merchant' },
      note: WITH_MONEY,
    },
    {
      key: 'EpayKey',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: '易支付商户密钥', en: 'Payment key' },
      note: WITH_MONEY,
    },
    {
      key: 'Price',
      // Nothing is sold for nothing: a price of 0 would give quota away at the first top-up.
      type: decimal('0.0001', '1000000'),
      preset: '7.3',
      access: 'root',
      label: { zh: '充值价格（每美元）', en: 'Price of one dollar of quota' },
      note: WITH_MONEY,
    },
    {
      key: 'MinTopUp',
      type: integer(1, 1_000_000),
      preset: '1',
      unit: 'dollar',
      access: 'root',
      label: { zh: '最低充值数量', en: 'Least top-up' },
      note: WITH_MONEY,
    },
    {
      key: 'TopUpLink',
      type: URL_TEXT,
      preset: '',
      label: { zh: '充值链接', en: 'Link to buy quota' },
      help: { zh: '例如发卡网站的购买链接。', en: 'A shop that sells codes, for example.' },
    },
  ],
}
