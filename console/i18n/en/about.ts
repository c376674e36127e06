import type { Words } from '../words-type.ts'

export const about: Words['about'] = {
  title: 'About',
  own: 'About {{name}}',
  lead: '{{name}} runs on Tallygate: a self-hosted, event-sourced gateway for AI model APIs.',
  plainLead: 'A self-hosted, event-sourced gateway for AI model APIs.',
  exact: 'Each call and each change of quota is an event that never changes: bills can be checked.',
  what: 'What runs here',
  version: 'Version',
  started: 'Running since',
  licence: 'Licence',
}
