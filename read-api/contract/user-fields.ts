import type { Fields } from './resource-fields.ts'

/** The settings of a user, which only the user changes. They have the names of the events. */
export const USER_SETTING_FIELDS = {
  /** Whether calls of models without a price are charged at the fallback price. */
  acceptUnsetModelRatioModel: {
    wire: 'accept_unset_model_ratio_model',
    type: 'flag',
    initial: false,
  },
  showIpInLogs: { wire: 'show_ip_in_logs', type: 'flag', initial: false },
} as const satisfies Fields
