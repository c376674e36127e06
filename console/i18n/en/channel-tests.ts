import type { Words } from '../words-type.ts'

export const channelTests: Words['channelTests'] = {
  title: 'Test the channel “{{name}}”',
  lead: 'Sends the shortest chat there is. The provider charges a little for it.',
  usual: 'usual',
  testModel: 'Test {{model}}',
  testFound: 'Test all ({{count}})',
  progress: 'Testing all channels: {{tested}} of {{total}}, failed {{failed}}',
  progressLabel: 'Progress of the tests',
  allDone: 'Channels tested: {{tested}}, failed: {{failed}}',
  showResults: 'Show results',
  dismiss: 'Dismiss',
  resultsTitle: 'Results of the test of all',
  resultsAt: 'Begun {{time}}: {{tested}} of {{total}} tested, {{failed}} failed',
  resultsFailed: 'Failed ({{count}})',
  resultsPassed: 'Passed ({{count}})',
  resultsNone: 'Not all channels have been tested yet',
  resultsNoneBody: 'Choose “Test all channels” among the actions of the list.',
}
