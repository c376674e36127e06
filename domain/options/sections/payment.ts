import { decimal, integer, RATIOS_ABOVE_ZERO, SECRET, text, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const PAYMENT: OptionSection = {
  id: 'payment',
  tab: 'system',
  title: { zh: '支付设置', en: 'Payment' },
  lead: {
    zh: '在线充值的网关与价格。支付回调使用服务器地址，请先填写。',
    en: 'The gateway for top-ups, and what a dollar costs. It calls back at the public address.',
  },
  options: [
    {
      key: 'PayAddress',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '支付网关地址', en: 'Payment gateway' },
      help: { zh: '易支付网关；留空则不启用。', en: 'An epay gateway; empty: not used.' },
    },
    {
      key: 'EpayId',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: '易支付商户 ID', en: 'Payment merchant' },
    },
    {
      key: 'EpayKey',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: '易支付商户密钥', en: 'Payment key' },
      help: {
        zh: '留空则停用该网关，也不再接受其回调。',
        en: 'Empty: the gateway is off, and its callbacks are refused.',
      },
    },
    {
      key: 'Price',
      // Nothing is sold for nothing: a price of 0 would give quota away at the first top-up.
      type: decimal('0.0001', '1000000'),
      preset: '7.3',
      access: 'root',
      label: { zh: '充值价格（每美元）', en: 'Price of one dollar of quota' },
      help: { zh: '人民币，经由支付网关。', en: 'In CNY, by the gateway.' },
    },
    {
      key: 'MinTopUp',
      type: integer(1, 1_000_000),
      preset: '1',
      unit: 'dollar',
      access: 'root',
      label: { zh: '最低充值数量', en: 'Least top-up' },
    },
    {
      key: 'TopUpCodes',
      // As of a price: at 0 nothing could be ordered.
      type: RATIOS_ABOVE_ZERO,
      preset: '{}',
      access: 'root',
      label: { zh: '充值码', en: 'Top-up codes' },
      help: {
        zh: '充值码 → 价格倍率：0.9 即九折。到账额度不变，可多次使用。',
        en: 'Code → factor of the price: 0.9 takes 10% off. The quota stays, uses are not counted.',
      },
    },
    {
      key: 'TopUpLink',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '充值链接', en: 'Link to buy quota' },
      help: { zh: '例如发卡网站的购买链接。', en: 'A shop that sells codes, for example.' },
    },
  ],
}
