import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Mixes the test files of all projects, larger files first, so that browser tests do not compete
 * for the cores while other cores idle later. Projects without isolation run last, because a worker
 * is only reused for consecutive files of one project.
 */
export class TestFileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const places = new Map<TestSpecification, number>()
    for (const ofProject of Map.groupBy(sorted, ({ project }) => project.name).values()) {
      for (const [i, file] of ofProject.entries()) places.set(file, (i + 0.5) / ofProject.length)
    }
    const place = (file: TestSpecification): number =>
      file.project.config.isolate ? (places.get(file) ?? 0) : 1
    return sorted.toSorted((a, b) => place(a) - place(b))
  }
}
