import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Mixes the test files of isolated projects, larger files first, so that no long file is alone at
 * the end. Projects without isolation run last and one after the other, because a worker is only
 * reused for consecutive files of one project.
 */
export class TestFileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const places = new Map<TestSpecification, number>()
    const shared = [...new Set(sorted.map(({ project }) => project))].filter(isShared)
    for (const ofProject of Map.groupBy(sorted, ({ project }) => project.name).values()) {
      for (const [i, file] of ofProject.entries()) places.set(file, (i + 0.5) / ofProject.length)
    }
    const place = (file: TestSpecification): number =>
      isShared(file.project) ? 1 + shared.indexOf(file.project) : (places.get(file) ?? 0)
    return sorted.toSorted((a, b) => place(a) - place(b))
  }
}

const isShared = ({ config }: TestSpecification['project']): boolean => !config.isolate
