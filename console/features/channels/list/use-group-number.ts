import { useTranslation } from 'react-i18next'
import { updateTag } from '#console/api/channels/update-tag.ts'
import { confirm } from '#console/ui/confirm.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import type { TagGroup } from '#read-api/contract/channel.ts'
import { useChannelAction } from './use-channel-action.ts'

type SetGroupNumber = (
  group: TagGroup,
  field: 'priority' | 'weight',
  value: number,
) => Promise<void>

/** One number for all channels of a tag: asked about where they differ, else it can be undone. */
export function useGroupNumber(): SetGroupNumber {
  const { t } = useTranslation()
  const act = useChannelAction()
  const set = (tag: string, field: 'priority' | 'weight', value: number) =>
    act(() => updateTag({ tag, [field]: value }))
  return async ({ tag, members, ...group }, field, value) => {
    const before = group[field]
    const title = t(`channels.${field}ForAll`, { tag, count: members.length, value })
    const body = t('channels.forAllBody')
    if (before === null && !(await confirm({ title, body }))) return
    if (!(await set(tag, field, value))) return
    const message = t(`channels.${field}Changed`, { name: tag, value })
    if (before === null) showSuccess(message)
    else {
      const undo = () => void set(tag, field, before)
      showSuccess(message, { action: { text: t('ui.undo'), onClick: undo } })
    }
  }
}
