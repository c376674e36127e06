import { DEFAULT_GROUP_RATIOS, DEFAULT_RATIOS, ratiosText } from '../pricing/default-ratios.ts'
import {
  decimal,
  FLAG,
  integer,
  type OptionSchema,
  type OptionType,
  optionsOf,
  RATIOS,
  text,
} from './schema.ts'

const QUOTA = integer(0, Number.MAX_SAFE_INTEGER)
const RATIO = decimal('0', '1000000', true)

const ratios = (key: string): string => ratiosText(DEFAULT_RATIOS.get(key) ?? new Map())

/** Every user begins in `default`: without its ratio, nobody new could make a call. */
const GROUP_RATIOS: OptionType = { kind: 'ratios', required: 'default' }

const GROUPS = '{\n  "default": "默认分组",\n  "vip": "vip分组"\n}'

export const OPERATION_OPTIONS: readonly OptionSchema[] = optionsOf('operation', [
  ['QuotaForNewUser', QUOTA, '0', 'Quota a new user starts with'],
  ['QuotaForInviter', QUOTA, '0', 'Quota for whoever invited a new user'],
  ['QuotaForInvitee', QUOTA, '0', 'Quota for an invited user'],
  ['QuotaRemindThreshold', QUOTA, '1000', 'Remind a user below this balance'],
  ['PreConsumedQuota', QUOTA, '500', 'Held for an answer without a limit'],
  ['StreamCacheQueueLength', integer(0, 10_000), '0', 'Stream lines kept in a queue'],
  ['QuotaPerUnit', decimal('1', '1000000000'), '500000', 'Quota shown as one dollar', 'root'],
  ['DisplayInCurrencyEnabled', FLAG, 'true', 'Show quota as money'],
  ['DisplayTokenStatEnabled', FLAG, 'true', 'Show tokens their own statistics'],
  ['ModelRatio', RATIOS, ratios('ModelRatio'), 'Model ratios'],
  ['CompletionRatio', RATIOS, ratios('CompletionRatio'), 'Completion ratios'],
  ['CacheRatio', RATIOS, ratios('CacheRatio'), 'Cache read ratios'],
  ['CreateCacheRatio', RATIOS, ratios('CreateCacheRatio'), 'Cache write ratios'],
  ['ImageRatio', RATIOS, '{}', 'Image input ratios'],
  ['AudioRatio', RATIOS, '{}', 'Audio ratios'],
  ['AudioCompletionRatio', RATIOS, '{}', 'Audio completion ratios'],
  ['ModelPrice', RATIOS, ratios('ModelPrice'), 'Prices per call, in dollars'],
  ['GroupRatio', GROUP_RATIOS, ratiosText(DEFAULT_GROUP_RATIOS), 'Group ratios'],
  ['UserUsableGroups', { kind: 'names' }, GROUPS, 'Groups that users may choose'],
  ['fallback_pricing_enabled', FLAG, 'false', 'Price models that have no price'],
  ['fallback_single_price', RATIO, '', 'Fallback price per call, in dollars'],
  ['fallback_input_ratio', RATIO, '', 'Fallback input ratio'],
  ['fallback_completion_ratio', RATIO, '', 'Fallback completion ratio'],
  ['TopUpLink', text(2_000), '', 'Link to buy quota'],
  ['ChatLink', text(2_000), '', 'Chat link'],
  ['ChatLink2', text(2_000), '', 'Second chat link'],
  ['Chats', { kind: 'links' }, '[]', 'Chat clients: names and links'],
  ['RetryTimes', integer(0, 3), '0', 'Tries on further channels'],
  ['ChannelDisableThreshold', decimal('0', '86400'), '5', 'Slowest test allowed, in seconds'],
  ['AutomaticDisableChannelEnabled', FLAG, 'false', 'Turn failing channels off'],
  ['AutomaticEnableChannelEnabled', FLAG, 'false', 'Turn recovered channels on again'],
  ['AutomaticDisableKeywords', text(20_000), '', 'Error codes that turn a channel off'],
  ['SensitiveWords', text(200_000), '', 'Words that are not let through'],
  ['CheckSensitiveEnabled', FLAG, 'false', 'Check for sensitive words'],
  ['CheckSensitiveOnPromptEnabled', FLAG, 'false', 'Check prompts for them'],
  ['StopOnSensitiveEnabled', FLAG, 'false', 'Stop at a sensitive word'],
  ['CheckInEnabled', FLAG, 'false', 'Daily check-in'],
  ['CheckInQuota', QUOTA, '0', 'Least quota of a check-in'],
  ['CheckInMaxQuota', QUOTA, '0', 'Most quota of a check-in'],
  ['RebateEnabled', FLAG, 'false', 'Rebates for inviters'],
  ['RebatePercentage', decimal('0', '100'), '0', 'Rebate, in percent'],
  ['AffEnabled', FLAG, 'false', 'Invitations'],
  ['LogConsumeEnabled', FLAG, 'true', 'Keep usage logs'],
  ['DrawingEnabled', FLAG, 'false', 'Drawing'],
  ['TaskEnabled', FLAG, 'false', 'Music tasks'],
  ['DataExportEnabled', FLAG, 'true', 'Dashboard'],
  [
    'DataExportDefaultTime',
    { kind: 'choice', choices: ['hour', 'day', 'week'] },
    'hour',
    'Step of the dashboard',
  ],
  ['DataExportInterval', integer(1, 1_440), '5', 'Dashboard refresh, in minutes'],
  ['DefaultCollapseSidebar', FLAG, 'false', 'Start with a narrow sidebar'],
  ['MjNotifyEnabled', FLAG, 'false', 'Callbacks of the drawing service'],
  ['MjAccountFilterEnabled', FLAG, 'false', 'Let callers choose drawing accounts'],
  ['MjForwardUrlEnabled', FLAG, 'true', 'Serve drawings through this site'],
  ['MjModeClearEnabled', FLAG, 'false', 'Drop speed marks from prompts'],
  ['MjActionCheckSuccessEnabled', FLAG, 'true', 'Follow-ups only of finished drawings'],
])
