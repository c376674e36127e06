import { DEFAULT_RATIOS, ratiosText } from '../../pricing/default-ratios.ts'
import { RATIOS } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const OTHER_RATIOS: OptionSection = {
  id: 'ratios',
  tab: 'operation',
  title: { zh: '其他倍率设置', en: 'Other ratios' },
  lead: {
    zh: '模型 → 倍率，相对于该模型的输入价格。',
    en: 'Model → ratio, on that model’s input price.',
  },
  options: [
    {
      key: 'CreateCacheRatio',
      type: RATIOS,
      preset: ratiosText(DEFAULT_RATIOS.get('CreateCacheRatio') ?? new Map()),
      label: { zh: '缓存创建倍率', en: 'Cache write ratios' },
    },
    {
      key: 'ImageRatio',
      type: RATIOS,
      preset: '{}',
      label: { zh: '图片输入倍率', en: 'Image input ratios' },
    },
    {
      key: 'AudioRatio',
      type: RATIOS,
      preset: '{}',
      label: { zh: '音频输入倍率', en: 'Audio input ratios' },
    },
    {
      key: 'AudioCompletionRatio',
      type: RATIOS,
      preset: '{}',
      label: { zh: '音频补全倍率', en: 'Audio completion ratios' },
    },
  ],
}
