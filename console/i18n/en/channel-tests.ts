import type { Words } from '../i18n.ts'

export const channelTests: Words['channelTests'] = {
  title: 'Test the channel “{{name}}”',
  lead: 'Sends the shortest chat there is. The provider charges a little for it.',
  search: 'Search models',
  usual: 'usual',
  test: 'Test',
  testModel: 'Test {{model}}',
  testFound: 'Test all ({{count}})',
  running: 'Testing…',
  failed: 'Failed',
  progress: 'Testing all channels: {{tested}} of {{total}}, failed {{failed}}',
  progressLabel: 'Progress of the tests',
  allDone: 'Channels tested: {{tested}}, failed: {{failed}}',
}
