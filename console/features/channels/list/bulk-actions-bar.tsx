import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { SelectionBar } from '#console/ui/lists/selection-bar.tsx'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import type { useSelectedChannels } from './use-channel-list.ts'
import type { ChannelListActions } from './use-channel-list-actions.ts'

export function BulkActionsBar(props: {
  selected: ReturnType<typeof useSelectedChannels>
  actions: ChannelListActions
}) {
  const { actions, selected } = props
  const { selectedRows } = selected
  const onDone = selected.clearSelection
  const { t } = useTranslation()
  const [isTagging, setTagging] = useState(false)
  const then = async (done: Promise<boolean>) => {
    if (await done) onDone()
  }
  const setEnabled = (isEnabled: boolean) =>
    void then(actions.setAllEnabled(selectedRows, isEnabled))
  const remove = () => void then(actions.remove(selectedRows))
  return (
    <SelectionBar
      selected={selected}
      actions={[
        { icon: 'play', text: t('shared.enableSelected'), perform: () => setEnabled(true) },
        { icon: 'pause', text: t('shared.disableSelected'), perform: () => setEnabled(false) },
        { icon: 'tag', text: t('shared.setTag'), perform: () => setTagging(true) },
        { icon: 'trash', text: t('shared.deleteSelected'), perform: remove },
      ]}
    >
      <BulkTagDialog
        isOpen={isTagging}
        count={selectedRows.length}
        onClose={() => setTagging(false)}
        onTag={async (name) => {
          if (!(await actions.setTag(selectedRows, name))) return false
          onDone()
          return true
        }}
      />
    </SelectionBar>
  )
}

function BulkTagDialog(props: {
  isOpen: boolean
  count: number
  onClose: () => void
  onTag: (tag: string) => Promise<boolean>
}) {
  const { t } = useTranslation()
  const form = useDraftForm({
    onClose: props.onClose,
    initial: () => ({ tag: '' }),
    validate: ({ tag }) => (tag.trim() === '' ? { tag: t('channelForm.error.tagMissing') } : {}),
    save: async ({ tag }) => {
      if (await props.onTag(tag.trim())) form.close()
    },
    onRepeat: () => form.close(),
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('channelTags.bulkTitle', { count: props.count })}
      submitText={t('shared.setTag')}
      form={form}
    >
      <TextField
        label={t('channels.tag')}
        hint={t('channelTags.bulkHint')}
        isRequired
        maxLength={CHANNEL_FIELDS.tag.maxLength}
        {...form.field('tag')}
      />
    </FormDialog>
  )
}
