from processes import run_python


def test_a_script_imports_tensorflow_without_its_lines_and_has_its_own(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, keras_attn, tensorflow\n"
        "keras_attn.Encoder\n"
        "print(sys.argv[1:], __name__)\n"
        "print('mine', file=sys.stderr)\n"
    )
    ended = run_python("-m", "keras_attn.quiet", script, "--one", TF_CPP_MIN_LOG_LEVEL="0")
    assert (ended.stdout, ended.stderr) == ("['--one'] __main__\n", "mine\n")
