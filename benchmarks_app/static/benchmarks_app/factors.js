/* Security keys: <form data-key="create|get"> asks the browser's keys with what #key-options says, puts
   the answer into its field `credential` and sends itself. Its button is hidden without this. */
(() => {
  "use strict";
  const { word } = window.benchwright;
  const WORDS = {
    NotAllowedError: word("No key answered, or it was refused. Try again."),
    InvalidStateError: word("This key is set up already."),
    SecurityError: word("The address of this site does not allow security keys: open it by its name, over https."),
  };
  const form = document.querySelector("form[data-key]");
  const button = form.querySelector("button[hidden]");
  const note = form.querySelector("[data-key-note]");
  const isAddress = /^[\d.]+$|^\[/.test(location.hostname);
  if (!webauthnJSON.supported() || isAddress) {
    note.textContent = isAddress ? WORDS.SecurityError : word("Security keys need a newer browser, and https.");
    return;
  }
  const options = JSON.parse(document.getElementById("key-options").textContent);
  const ask = async () => {
    note.textContent = word("Touch your key, or do what the browser asks.");
    button.disabled = true;
    try {
      const answer = await webauthnJSON[form.dataset.key](options);
      form.elements.credential.value = JSON.stringify(answer);
      form.submit();
    } catch (error) {
      note.textContent = WORDS[error.name] ?? word("The key could not be used. Try again.");
      button.disabled = false;
    }
  };
  note.textContent = "";
  button.hidden = false;
  if (form.dataset.key === "get") button.addEventListener("click", ask);
  else form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
})();
