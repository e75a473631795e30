/**
 * Asks for something once for all who wait for it. What somebody learns was asked for after they came: a question under way
 * may have been answered before the change that they know of, so they share the next one.
 */
export class FreshAnswers<Answer> {
  readonly #ask: (key: string) => Promise<Answer>;
  readonly #underWay = new Map<string, { readonly answer: Promise<Answer>; next: Promise<Answer> | undefined }>();

  constructor(ask: (key: string) => Promise<Answer>) {
    this.#ask = ask;
  }

  /** The answer for a key. */
  of(key: string): Promise<Answer> {
    const question = this.#underWay.get(key);
    if (!question) return this.#begin(key);
    const begin = (): Promise<Answer> => this.#begin(key);
    question.next ??= question.answer.then(begin, begin);
    return question.next;
  }

  #begin(key: string): Promise<Answer> {
    // Before anybody goes on: who comes from now on has to have an answer of their own.
    const answer = this.#ask(key).finally(() => {
      if (this.#underWay.get(key) === question && !question.next) this.#underWay.delete(key);
    });
    const question = { answer, next: undefined };
    this.#underWay.set(key, question);
    return answer;
  }
}
