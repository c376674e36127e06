import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import type { ChannelListView } from './use-channel-list.ts'

/** Switches of the list: group by tag, select rows, order by id. */
export function ChannelModes({ modes }: Pick<ChannelListView, 'modes'>): ReactElement {
  const { isTagMode, setTagMode, isBatch, setBatch, isIdSort, setIdSort } = modes
  const { t } = useTranslation()
  return (
    <>
      <Button icon="tag" isPressed={isTagMode} onClick={() => setTagMode(!isTagMode)}>
        {t('channels.tagMode')}
      </Button>
      <Button icon="check" isPressed={isBatch} onClick={() => setBatch(!isBatch)}>
        {t('channels.batchMode')}
      </Button>
      <Button icon="arrowDown" isPressed={isIdSort} onClick={() => setIdSort(!isIdSort)}>
        {t('channels.idSort')}
      </Button>
    </>
  )
}
