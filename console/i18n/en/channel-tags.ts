import type { Words } from '../words-type.ts'

export const channelTags: Words['channelTags'] = {
  title: 'Edit tag “{{tag}}”',
  lead: 'Changes all channels of this tag ({{count}}); what is left empty stays as each has it.',
  newTag: 'Name of the tag',
  newTagHint: 'Empty: the channels lose their tag.',
  keepHint: 'Empty: no change.',
  saved: 'Channels changed: {{count}}',
  batchTitle: 'Tag the selected channels ({{count}})',
  batchHint: 'Replaces the tags they have.',
}
