import type { Words } from '../i18n.ts'

export const me: Words['me'] = {
  title: 'Personal settings',
  lead: 'Your profile, check-in and invitations, ways in and notifications.',
  admin: 'Administrator',
  user: 'User',
  id: 'ID',
  balance: 'Balance',
  used: 'Used so far',
  calls: 'Requests',
  models: 'Available models',
  modelsLead: 'Click a name to copy it.',
  noModels: 'No models available yet',
  copyModel: 'Copy {{name}}',
  modelCopied: 'Copied {{name}}',
  more: '{{count}} more',
  fewer: 'Show fewer',
}
