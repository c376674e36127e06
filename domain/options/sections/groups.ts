import { DEFAULT_GROUP_RATIOS, ratiosText } from '../../pricing/default-ratios.ts'
import { NAMES, type OptionType } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

/** Colours that the console has a badge of, in either theme. */
export const BADGE_COLOURS = [
  'grey',
  'blue',
  'cyan',
  'green',
  'yellow',
  'orange',
  'red',
  'pink',
  'purple',
] as const

const COLOUR_BY_GROUP: OptionType = { kind: 'choice-by-name', choices: BADGE_COLOURS }

export const GROUPS: OptionSection = {
  id: 'groups',
  tab: 'operation',
  title: { zh: '分组设置', en: 'Groups' },
  lead: {
    zh: '同一模型可以按分组以不同倍率出售。',
    en: 'The same model may be sold at another ratio in each group.',
  },
  options: [
    {
      key: 'GroupRatio',
      // Every user begins in `default`: without its ratio, nobody new could make a call.
      type: { kind: 'ratios', required: 'default' },
      preset: ratiosText(DEFAULT_GROUP_RATIOS),
      label: { zh: '分组倍率', en: 'Group ratios' },
      help: { zh: '分组 → 倍率，乘在所有价格上。', en: 'Group → ratio, multiplies every price.' },
    },
    {
      key: 'UserUsableGroups',
      type: NAMES,
      preset: '{\n  "default": "默认分组",\n  "vip": "vip分组"\n}',
      label: { zh: '用户可选分组', en: 'Groups that users may choose' },
      help: {
        zh: '分组 → 说明，用户新建令牌时可选。',
        en: 'Group → description, offered when a token is made.',
      },
    },
    {
      key: 'GroupGroupRatio',
      type: { kind: 'nested-ratios' },
      preset: '{}',
      label: { zh: '分组特殊倍率', en: 'Special group ratios' },
      help: {
        zh: '用户所在分组 → 所用令牌的分组 → 倍率，代替后者自己的倍率。',
        en: 'Group of the user → group of the token → ratio, in place of that group’s own.',
      },
    },
    {
      key: 'GroupColors',
      type: COLOUR_BY_GROUP,
      preset: '{}',
      label: { zh: '分组颜色', en: 'Group colours' },
      help: {
        zh: `分组 → 标签颜色：${BADGE_COLOURS.join('、')}。`,
        en: `Group → colour of its badge: ${BADGE_COLOURS.join(', ')}.`,
      },
    },
  ],
}
