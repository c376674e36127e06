import type { Translations } from '../translation-types.ts'
import type { pricingPage as chinese } from '../zh/pricing-page.ts'

export const pricingPage: Pick<Translations['pricing'], keyof typeof chinese> = {
  title: 'Model prices',
  leadVisitor: 'Prices include the group ratio. Sign in to see the groups that you can use.',
  leadUser: 'Model prices in the groups that you can use. They include the group ratio.',
  models_one: '{{count}} model',
  models_other: '{{count}} models',
  filters: 'Filter models',
  owner: 'Provider',
  anyOwner: 'All providers',
  otherOwner: 'Others',
  anyBilling: 'All billing',
  byTokens: 'By tokens',
  byCall: 'By call',
  bySecond: 'By second',
  byCallOrSecond: 'Call or second',
  input: 'Input / 1M tokens',
  inputHeading: 'Input / 1M',
  cached: 'Cached / 1M',
  price: 'Price',
  perCallPrice: 'Per call',
  perSecondPrice: 'Per second',
  perCallOrSecondPrice: 'Per call or second',
  available: 'Availability',
  isAvailable: 'Available',
  isUnavailable: 'Unavailable',
  onlyHere: 'In this group only',
  groups: 'Groups',
  copyName: 'Copy the model’s name',
  selection: 'Selected models',
  selectedCount: '{{count}} selected',
  copySelected: 'Copy names',
  copied_one: '{{count}} name copied',
  copied_other: '{{count}} names copied',
  none: 'No models yet',
  noneLead: 'They appear once an administrator has added channels and set prices.',
  byGroup: 'Price in each group',
  video: 'Video',
  videoPrices: 'Video prices in the group',
  videoKind: {
    usual: 'Without options',
    pro: 'Default in the better mode (pro)',
    audio: 'Default with sound',
    other: 'Default with {{name}}',
  },
  isDefault: 'Default',
  medium: 'Medium',
  mediaPrices: 'Audio and image prices in the group',
  mediumName: { audio: 'Audio', image: 'Images' },
  onlyText: 'Only text is counted here. Audio and images have the prices in the table.',
  batchPrice: 'In batches, all of these prices × {{ratio}}.',
  prompt: 'Prompt tokens',
  completion: 'Completion tokens',
  wholeNumbers: 'Enter whole numbers.',
  formulaWith:
    '{{group}} × {{model}} × ({{prompt}} + {{completion}} × {{completionRatio}}) / 500000',
  notes: 'How prices are computed',
  noteTokens:
    'A million tokens cost model ratio × 2 × group ratio; output also × completion ratio. If ' +
    'speech is billed by characters, one counts as a token; if transcriptions are billed by ' +
    'minutes, one counts as 1,000 tokens.',
  noteMedia:
    'The prices in the list are those of text. The details of a model list the prices of audio ' +
    'and images if these differ, often by a multiple. Without such prices in its answers, audio ' +
    'costs what it costs in the input, and images cost what text costs.',
  noteCall:
    'A call costs the model’s price × group ratio. A video that is billed by the second costs ' +
    'this for each second. A higher resolution, a better mode or sound can cost a multiple, also ' +
    'if they are the model’s default. “Call or second” depends on the channel that serves the ' +
    'request.',
  noteImage:
    'An image costs 0.4 to 3 times the model’s price × group ratio, by its size and quality, ' +
    'unless it comes from Alibaba Cloud or Imagen.',
  formula:
    'Dollars = group ratio × model ratio × (prompt + completion × completion ratio) / 500000.',
}
