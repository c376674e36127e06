import type { Words } from '../words-type.ts'

export const logExport: Words['logExport'] = {
  title: 'Columns to export',
  lead: 'The CSV has the columns that are ticked. This browser remembers them.',
  chosen: '{{chosen}} of {{all}} chosen',
  none: 'Choose at least one column',
  everything: 'All',
  nothing: 'None',
  column: {
    id: 'Log ID',
    unix_time: 'Unix time',
    provider_cost_usd: 'Provider cost',
    error: 'Error code',
  },
}
