import { useTranslation } from 'react-i18next'
import { Button } from '../elements/button.tsx'

/** The button of a toolbar that removes all filters of a list. */
export function ClearFiltersButton({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation()
  return (
    <Button tone="quiet" icon="close" onClick={onClear}>
      {t('ui.clearFilters')}
    </Button>
  )
}
